/* scheduler.cpp - a scheduler for C++17, derived from timingwheel: jobs at a
 * fixed rate or with a fixed delay, cancelled inside, that may throw.
 *     c++ -std=c++17 -O2 -Wall -Wextra scheduler.cpp -o scheduler && ./scheduler
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION // in one file, of C++: C would not unwind
#include "timingwheel.h"
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thread>
using namespace std::chrono;

struct Scheduler : private timingwheel {
    enum Repeat { ONCE, FIXED_RATE, FIXED_DELAY };
    struct Job : tw_timer {
        std::function<void(Job &)> work;
        Repeat repeat;
        uint64_t period;
    };

    Scheduler()
    {
        tw_config config{};
        config.tick = 1000000;
        config.start = now();
        tw_init(this, &config);
    }
    ~Scheduler() // the unfinished jobs are freed
    {
        tw_drain(this, free, nullptr);
        tw_destroy(this);
    }
    Scheduler(const Scheduler &) = delete; // its lists point into it
    void add(std::function<void(Job &)> work, nanoseconds delay,
             Repeat repeat = ONCE)
    {
        uint64_t ns = uint64_t(delay.count());
        std::unique_ptr<Job> job(
            new Job{TW_TIMER_INIT(fire), std::move(work), repeat, ns});
        if (tw_start_after(this, job.get(), now(), ns) != TW_OK)
            throw std::bad_alloc(); // no memory for a wheel
        job.release();
    }
    void run() // until no job is left, or a job throws
    {
        while (tw_count(this) > 0) {
            std::this_thread::sleep_for(
                nanoseconds(tw_wait(this, now(), 1000000000)));
            tw_advance_clock(this, now());
        }
    }

  private:
    static void free(tw_timer *timer, void *)
    {
        delete static_cast<Job *>(timer);
    }
    static uint64_t now()
    {
        return uint64_t(steady_clock::now().time_since_epoch() / 1ns);
    }
    static void fire(timingwheel *tw, tw_timer *timer)
    {
        std::unique_ptr<Job> job(static_cast<Job *>(timer)); // also at a throw
        job->work(*job);
        uint64_t next = tw_after(now(), job->period);
        if (job->repeat == FIXED_RATE)
            next = tw_next_period(tw_deadline(job.get()), job->period, now(),
                                  nullptr);
        if (job->repeat != ONCE && tw_start(tw, job.get(), next) == TW_OK)
            job.release();
    }
};

int main()
{
    using Job = Scheduler::Job;
    Scheduler s;
    int rate = 0, delay = 0;
    s.add(
        [&](Job &job) {
            if (++rate == 5)
                job.repeat = Scheduler::ONCE;
        },
        20ms, Scheduler::FIXED_RATE); // it cancels itself
    s.add([&](Job &) { delay++; }, 30ms, Scheduler::FIXED_DELAY);
    s.add([](Job &) { throw std::runtime_error("thrown"); }, 200ms);
    try {
        s.run();
    } catch (const std::exception &error) {
        std::cout << error.what() << ": " << rate << ", " << delay << std::endl;
    }
}
